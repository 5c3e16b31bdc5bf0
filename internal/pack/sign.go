package pack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/confined"
)

// Signatures are the signatures of a pack or catalog.
//
// The note has the form of golang.org/x/mod/sumdb/note, with Ed25519 keys. Its text has
// these lines, each with a newline:
//
//	docsearch pack 2           or "docsearch catalog 1"
//	NAME                       of the pack or catalog
//	VERSION                    of the pack, or the counter of the catalog; may be empty
//	sha256:DIGEST              of the manifest, 64 hexadecimal digits
//	TIME                       packs only: when the publisher signed, RFC 3339, UTC
//
// The time orders the packs of a publisher; see Head.CheckOrder. It is not part of the
// manifest, so that the same passages make the same manifest. Packs that were signed
// before the time was added have "docsearch pack 1" in the first line, and no last one.
//
// The text of a rotation, signed by the old key:
//
//	docsearch key 1
//	KEY                        the new key, of the same name
type Signatures struct {
	Note      string   `json:"note"`
	Keys      []string `json:"keys"`                // the public keys of the signers, to show and compare
	Rotations []string `json:"rotations,omitempty"` // signed notes
}

// Kinds of signed manifests.
const (
	KindPack    = "pack"
	KindCatalog = "catalog"
)

// A Subject is the signed object.
type Subject struct {
	Kind, Name, Version string
	Manifest            []byte
	Signed              time.Time // zero: no time
}

func (s *Subject) text() string {
	format, signed := 1, ""
	if !s.Signed.IsZero() {
		format, signed = 2, s.Signed.UTC().Format(time.RFC3339Nano)+"\n"
	}
	return fmt.Sprintf("docsearch %s %d\n%s\n%s\nsha256:%s\n%s", s.Kind, format, s.Name, s.Version,
		DigestOf(s.Manifest).SHA256, signed)
}

// A Key is a public key in the form NAME+HASH+KEY of package note.
type Key string

// ParseKey checks a public key.
func ParseKey(s string) (Key, error) {
	v, err := note.NewVerifier(s)
	if err != nil || !isText(s) || len(v.Name()) > 200 {
		return "", fmt.Errorf("invalid key %q: want NAME+HASH+KEY, as printed by docsearch pack key new", s)
	}
	return Key(s), nil
}

// Name returns the publisher's name in the key.
func (k Key) Name() string {
	name, _, _ := strings.Cut(string(k), "+")
	return name
}

// ID returns the key's name and hash, which identify it to a person.
func (k Key) ID() string {
	// The key itself is in base64, which may contain plus signs.
	parts := strings.SplitN(string(k), "+", 3)
	return strings.Join(parts[:min(2, len(parts))], "+")
}

// NewKey returns a new key pair of that name.
func NewKey(name string) (private string, public Key, err error) {
	if name == "" || !isText(name) || strings.ContainsAny(name, "+ ") || len(name) > 200 {
		return "", "",
			fmt.Errorf("invalid publisher name %q: want a name without spaces and plus signs, as in docs.example.com",
				name)
	}
	s, v, err := note.GenerateKey(nil, name)
	return s, Key(v), err
}

// ReadKey reads a private key file. It refuses a file that others can read.
func ReadKey(path string) (*SigningKey, error) {
	data, err := atomicfile.ReadPrivate(path, 4096)
	if err != nil {
		return nil, err
	}
	private, public, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
	signer, err := note.NewSigner(strings.TrimSpace(private))
	if err != nil {
		return nil, fmt.Errorf("%s is not a key file of docsearch pack key new", path)
	}
	v, err := note.NewVerifier(strings.TrimSpace(public))
	if err != nil || v.Name() != signer.Name() || v.KeyHash() != signer.KeyHash() {
		return nil, fmt.Errorf("the public key in %s does not match the private key", path)
	}
	return &SigningKey{signer, Key(strings.TrimSpace(public))}, nil
}

// A SigningKey signs packs and catalogs.
type SigningKey struct {
	signer note.Signer
	Public Key
}

// WriteKey writes a new key file that only the user can read: the private and the public
// key, one on each line. It does not replace a file.
func WriteKey(path, private string, public Key) error {
	f, err := confined.Of(path).Create(0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists, and may be the only copy of a key", path)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\n%s\n", private, public)
	return errors.Join(err, f.Sync(), f.Close())
}

// Sign signs a subject with all keys. rotations are signed notes of Rotate.
func Sign(s Subject, keys []*SigningKey, rotations []string) (*Signatures, error) {
	signed := &Signatures{Rotations: rotations}
	var signers []note.Signer
	for _, k := range keys {
		signers = append(signers, k.signer)
		signed.Keys = append(signed.Keys, string(k.Public))
	}
	text, err := note.Sign(&note.Note{Text: s.text()}, signers...)
	signed.Note = string(text)
	return signed, err
}

// Rotate returns a note by which the old key's owner names a new key of the same name.
func Rotate(old *SigningKey, public Key) (string, error) {
	if old.Public.Name() != public.Name() {
		return "", fmt.Errorf("the new key is of %s, the old one of %s: want the same name", public.Name(),
			old.Public.Name())
	}
	text, err := note.Sign(&note.Note{Text: rotationPrefix + string(public) + "\n"}, old.signer)
	return string(text), err
}

const rotationPrefix = "docsearch key 1\n"

// Encode returns the bytes of the signatures.
func (s *Signatures) Encode() ([]byte, error) {
	return encodeJSON(s)
}

// ParseSignatures decodes signatures. It verifies none of them.
func ParseSignatures(data []byte) (*Signatures, error) {
	const part, most = "signatures", 20
	s := &Signatures{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, invalid(part, "%v", err)
	}
	if len(s.Keys) == 0 || len(s.Keys) > most || len(s.Rotations) > most {
		return nil, invalid(part, "%d keys and %d rotations: want 1 to %d keys", len(s.Keys), len(s.Rotations), most)
	}
	for _, k := range s.Keys {
		if _, err := ParseKey(k); err != nil {
			return nil, invalid(part, "%v", err)
		}
	}
	return s, nil
}

// cutNote splits a note into its text and the lines of its signatures. The text of a pack
// without a version has an empty line, too.
func cutNote(signed string) (text, lines string, found bool) {
	i := strings.LastIndex(signed, "\n\n")
	if i < 0 {
		return "", "", false
	}
	return signed[:i+1], signed[i+2:], true
}

// time returns the time in the text of the note, zero if there is none. Only Verify shows
// whether it is signed.
func (s *Signatures) time() time.Time {
	text, _, _ := cutNote(s.Note)
	lines := strings.Split(text, "\n")
	if lines[0] != "docsearch pack 2" || len(lines) < 2 {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, lines[len(lines)-2])
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// Add returns s with the signatures of other over the same text.
func (s *Signatures) Add(other *Signatures) *Signatures {
	text, theirs, found := cutNote(other.Note)
	mine, _, ok := cutNote(s.Note)
	if !found || !ok || text != mine {
		return s
	}
	sum := &Signatures{Note: s.Note, Keys: slices.Clone(s.Keys), Rotations: slices.Clone(s.Rotations)}
	for line := range strings.Lines(theirs) {
		if !strings.Contains(sum.Note, line) {
			sum.Note += line
		}
	}
	for _, k := range other.Keys {
		if !slices.Contains(sum.Keys, k) {
			sum.Keys = append(sum.Keys, k)
		}
	}
	sum.Rotations = append(sum.Rotations, other.Rotations...)
	return sum
}

// A SignatureError reports signatures that are missing, wrong, or of an unknown key.
type SignatureError struct {
	// Unknown are the keys that made valid signatures but are not trusted. It is empty if
	// the signatures are wrong.
	Unknown []Key
	// Changed is a trusted key of the same name as an unknown one.
	Changed Key
	problem string
}

func (e *SignatureError) Error() string { return e.problem }

// Verify returns the trusted key that signed the subject. If a rotation by a trusted key
// names the signer's key, rotated is true and the caller should trust the key from now
// on. The error is a *SignatureError.
func (s *Signatures) Verify(subject Subject, trusted []Key) (key Key, rotated bool, err error) {
	var signers []Key
	for _, k := range s.Keys {
		if opens(s.Note, subject.text(), Key(k)) {
			signers = append(signers, Key(k))
		}
	}
	if len(signers) == 0 {
		return "", false, &SignatureError{problem: fmt.Sprintf("the signature does not match the manifest of %s",
			subject.Name)}
	}
	for _, k := range signers {
		if slices.Contains(trusted, k) {
			return k, false, nil
		}
	}
	// Each rotation can make another key trusted.
	all := slices.Clone(trusted)
	for range s.Rotations {
		for _, r := range s.Rotations {
			if k := rotatedKey(r, all); k != "" && !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	for _, k := range signers {
		if slices.Contains(all, k) {
			return k, true, nil
		}
	}
	e := &SignatureError{Unknown: signers, problem: "unknown publisher " + signers[0].ID()}
	for _, k := range trusted {
		if k.Name() == signers[0].Name() {
			e.Changed = k
			e.problem = fmt.Sprintf("%s signed with another key: %s, you trust %s", k.Name(), signers[0].ID(), k.ID())
		}
	}
	return "", false, e
}

// Signer returns the first key that signed the subject, trusted or not.
func (s *Signatures) Signer(subject Subject) (Key, error) {
	key, _, err := s.Verify(subject, nil)
	if e, ok := errors.AsType[*SignatureError](err); ok && len(e.Unknown) > 0 {
		return e.Unknown[0], nil
	}
	return key, err
}

// rotatedKey returns the key that a rotation names, if a trusted key of the same name
// signed it, else "".
func rotatedKey(signed string, trusted []Key) Key {
	text, _, _ := cutNote(signed)
	named, ok := strings.CutPrefix(text, rotationPrefix)
	if !ok {
		return ""
	}
	k, err := ParseKey(strings.TrimSuffix(named, "\n"))
	if err != nil {
		return ""
	}
	for _, old := range trusted {
		if old.Name() == k.Name() && opens(signed, text, old) {
			return k
		}
	}
	return ""
}

// opens reports whether the key signed the note, and the note has this text.
func opens(signed, text string, key Key) bool {
	v, err := note.NewVerifier(string(key))
	if err != nil {
		return false
	}
	n, err := note.Open([]byte(signed), note.VerifierList(v))
	return err == nil && n.Text == text
}
