package include

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const pythonModule = `"""About kettles.

More.
"""
from __future__ import annotations
from .base import Base as Base, heat
from . import cups as c
from ..other import *
import a.b as ab

if True:
    from x import (
        one,  # comment
        two as deux,
    )

#: How hot it is.
LIMIT: int = 100
NAME = "k"
"""Its name."""
hidden[0] = 1

@overload
def boil(a: int) -> int: ...
def boil(a, b="):", *args,
         c={1: 2}, **kw) -> dict[str, int]:
    r"""Boils \n water."""
    def inner(): pass
    return "def no(): pass"

async def pour(): "Pours."

class Kettle(Base, metaclass=M):
    '''A kettle.

        Indented.
    '''
    size = 1  #: In liters.

    class Lid:
        """A lid."""

    def __init__(self, size: int = 1, *, color=None,) -> None:
        """Makes one."""

    @property
    def full(self) -> bool:
        """Whether it is full."""

    @full.setter
    def full(self, value): pass

    @classmethod
    def make(cls) -> Kettle:
        """Makes another."""

    def quiet(self): pass
`

// A Python file is read for its definitions and their docstrings.
func TestParsePython(t *testing.T) {
	m := parsePython(strings.Split(pythonModule, "\n"), "shop.kettle", false)
	var got []string
	var list func(m *pyMember, indent string)
	list = func(m *pyMember, indent string) {
		got = append(got, indent+strings.TrimSpace(m.kind+" "+m.name+m.signature)+" | "+strings.ReplaceAll(m.doc, "\n", "/"))
		for _, inner := range m.members {
			list(inner, indent+"  ")
		}
	}
	list(m, "")
	want := []string{
		"module shop.kettle | About kettles.//More.",
		"  attribute LIMIT: int = 100 | How hot it is.",
		`  attribute NAME = "k" | Its name.`,
		`  function boil(a, b="):", *args, c={1: 2}, **kw) -> dict[str, int] | Boils \n water.`,
		"  function pour() | Pours.",
		"  class Kettle(size: int = 1, *, color=None) | A kettle.//Indented.",
		"    attribute size = 1 | In liters.",
		"    class Lid | A lid.",
		"    method __init__(size: int = 1, *, color=None) -> None | Makes one.",
		"    property full: bool | Whether it is full.",
		"    classmethod make() -> Kettle | Makes another.",
		"    method quiet() | ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("definitions (-want +got):\n%s", diff)
	}
	imports := map[string]string{"Base": "shop.base.Base", "heat": "shop.base.heat", "c": "shop.cups", "ab": "a.b", "one": "x.one", "deux": "x.two", "annotations": "__future__.annotations"}
	if diff := cmp.Diff(imports, m.imports); diff != "" {
		t.Errorf("imports (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"other"}, m.stars); diff != "" {
		t.Errorf("imports of all names (-want +got):\n%s", diff)
	}
}

func FuzzParsePython(f *testing.F) {
	f.Add(pythonModule)
	f.Add("\f")
	f.Add("class A(\n  B[\n'''")
	f.Add("if a:\n if b:\n  def c(: \"\"\"x\"\"\"\n\\\n#: d\n@e(\n")
	f.Fuzz(func(t *testing.T, source string) {
		size := 0
		var count func(m *pyMember)
		count = func(m *pyMember) {
			size += len(m.doc) + len(m.signature)
			for _, inner := range m.members {
				count(inner)
			}
		}
		count(parsePython(strings.Split(source, "\n"), "a.b", true))
		if most := 1000 + 10*len(source); size > most {
			t.Fatalf("%d bytes of documentation from %d of source", size, len(source))
		}
	})
}

// Directives of reStructuredText, MyST and mkdocstrings show code and docstrings.
func TestExpandReference(t *testing.T) {
	files := testFiles{
		"src/shop/__init__.py": "from .kettle import Kettle as Kettle, boil\nfrom .base import *\n",
		"src/shop/base.py":     "class Base:\n  \"\"\"A base.\"\"\"\n  def __init__(self, a): pass\n  def heat(self):\n    \"\"\"Heats.\"\"\"\n  def stop(self):\n    \"\"\"Stops.\"\"\"\nclass HotError(Base): pass\n",
		"src/shop/kettle.py":   "from .base import Base\ndef boil(a):\n  \"\"\"Boils.\n\n  Args:\n    a (int): Water\n      to boil.\n  \"\"\"\nclass Kettle(Base):\n  def pour(self, b=1):\n    \"\"\"Pours.\n\n    Parameters\n    ----------\n    b : int\n        How much.\n    \"\"\"\n  def stop(self): pass\n  def _own(self):\n    \"\"\"Own.\"\"\"\n  def silent(self): pass\n",
		"docs/part.rst":        "One.\n\n.. Begin\n\nTwo.\n",
		"docs/a.py":            "import x\n\n@deco\ndef one():\n    return 1\n\n\nclass Two:\n    def three(self):\n        pass\n# end\n",
		"docs/part.md":         "Part.\n",
	}
	for _, test := range []struct{ name, page, in, want, missing string }{
		{"include", "docs/a.rst", "a\n\n  .. include:: part.rst\n     :start-after: Begin\n\nb", "a\n\n\n  Two.\n\n\nb", ""},
		{"include literally", "docs/a.rst", ".. include:: part.rst\n   :literal:\n   :end-line: 1", ".. code-block:: rst\n\n   One.\n", ""},
		{"of docutils", "docs/a.rst", ".. include:: <isonum.txt>\na", "a", ""},
		{"missing", "docs/a.rst", ".. include:: /x.rst\n\na", "\na", "/x.rst"},
		{"shown", "docs/a.rst", "So::\n\n  .. include:: x.rst\n\n.. code-block:: rst\n\n  .. include:: x.rst\n", "So::\n\n  .. include:: x.rst\n\n.. code-block:: rst\n\n  .. include:: x.rst\n", ""},
		{"literalinclude", "docs/a.rst", ".. literalinclude:: a.py\n   :lines: 1,4-5\n   :language: python\n   :caption: C", ".. code-block:: python\n   :caption: C\n\n   import x\n   def one():\n       return 1\n", ""},
		{"between", "docs/a.rst", ".. literalinclude:: a.py\n   :start-at: class\n   :end-before: end", ".. code-block:: py\n\n   class Two:\n       def three(self):\n           pass\n", ""},
		{"object", "docs/a.rst", ".. literalinclude:: a.py\n   :pyobject: one", ".. code-block:: py\n\n   @deco\n   def one():\n       return 1\n", ""},
		{"method", "docs/a.rst", ".. literalinclude:: a.py\n   :pyobject: Two.three", ".. code-block:: py\n\n   def three(self):\n       pass\n", ""},

		{"function", "docs/a.rst", ".. module:: shop\n\n.. autofunction:: boil\n", ".. module:: shop\n\n.. py:function:: boil(a)\n\n   Boils.\n\n\n   **Args**\n\n   a : int\n       Water\n     to boil.\n\n\n\n", ""},
		{"class", "docs/a.rst", ".. autoclass:: shop.Kettle(x)\n   :members:\n\n   More.", ".. py:class:: shop.Kettle(x)\n\n   A base.\n\n\n   More.\n\n   .. py:method:: pour(b=1)\n\n      Pours.\n\n\n      **Parameters**\n\n      b : int\n          How much.\n\n   .. py:method:: stop()\n\n      Stops.\n\n", ""},
		{"members", "docs/a.rst", ".. autoclass:: shop.Kettle\n   :members: heat", ".. py:class:: shop.Kettle(a)\n\n   A base.\n\n\n   .. py:method:: heat()\n\n      Heats.\n\n", ""},
		{"exception", "docs/a.rst", ".. autoexception:: shop.HotError", ".. py:exception:: shop.HotError(a)\n\n   A base.\n\n\n", ""},
		{"list", "docs/a.rst", ".. autosummary::\n\n   shop.boil\n   ~shop.Kettle", "* ``shop.boil``: Boils.\n* ``shop.Kettle``: A base.\n", ""},
		{"unknown", "docs/a.rst", ".. autofunction:: shop.x\n\nEnd.", "\n\nEnd.", "shop.x"},

		{"mkdocstrings", "docs/a.md", "## Kettles\n\n::: shop.Kettle\n    options:\n      members:\n        - heat\n\nEnd.", "## Kettles\n\n\n### `class shop.Kettle`\n\n```python\nclass shop.Kettle(a)\n```\n\nA base.\n\n\n#### `Kettle.heat()`\n\n```python\nKettle.heat()\n```\n\nHeats.\n\n\nEnd.", ""},
		{"mkdocstrings, unknown", "docs/a.md", "::: shop.x\n\n::: tip\nT\n:::", "\n::: tip\nT\n:::", "shop.x"},
		{"MyST", "docs/a.md", "```{include} part.md\n```\n\n```{autofunction} shop.base.Base.heat\n```\n\n```{literalinclude} a.py\n:lines: 1\n```", "Part.\n\n\n# `shop.base.Base.heat()`\n\n```python\nshop.base.Base.heat()\n```\n\nHeats.\n\n\n```py\nimport x\n```", ""},
		{"MyST with reStructuredText", "docs/a.md", "# A\n\n```{eval-rst}\n.. currentmodule:: shop\n* .. autoclass:: Base\n     :members: stop\n```", "# A\n\n\n## `class Base`\n\n```python\nclass Base(a)\n```\n\nA base.\n\n\n### `Base.stop()`\n\n```python\nBase.stop()\n```\n\nStops.\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := Expand(files, test.page, strings.Split(test.in, "\n"))
			if diff := cmp.Diff(test.want, strings.Join(page.Lines, "\n")); diff != "" {
				t.Errorf("expanded (-want +got):\n%s", diff)
			}
			if got := strings.Join(append(page.Missing, page.Reference...), ", "); got != test.missing {
				t.Errorf("missing %q, want %q", got, test.missing)
			}
		})
	}
}

// Imports in a circle end.
func TestReferenceBounds(t *testing.T) {
	files := testFiles{"p/__init__.py": "from .a import *\nfrom .b import *\n", "p/a.py": "from .b import *\nfrom . import *\nclass A(B): pass\n", "p/b.py": "from .a import *\nfrom . import *\nclass B(A): pass\n"}
	page := Expand(files, "a.rst", []string{".. autoclass:: p.A", "   :members:", "   :inherited-members:", ".. autofunction:: p.x"})
	if diff := cmp.Diff([]string{"p.x"}, page.Reference); diff != "" {
		t.Errorf("not found (-want +got):\n%s", diff)
	}
}
