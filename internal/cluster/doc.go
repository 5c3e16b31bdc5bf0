// Package cluster stores databases in a Weaviate cluster and searches them there. The
// cluster finds candidates by docsearch's own terms; docsearch ranks them with the scorer
// of local databases (see index.External). It uses REST and GraphQL over net/http.
//
// # Classes
//
//	DocsearchPassages1   with tenants: the passages
//	  bag       text, whitespace, searchable: terms, each as often as its field weighs
//	  passage   text, filterable: ID of the passage
//	  document  text, filterable: key of its document
//	  place     int: number of passages of the document before it
//	  slot      int: see Slots
//	  line      text: line of the passages file (see package passage), without the newline
//	  record    blob: see lexical.Exported
//	DocsearchParts1      with tenants: the data of index.OpenExternal, in parts of 1 MiB
//	  slot      int: number of the part
//	  data      blob
//	DocsearchDatabases1  the databases
//	  name      text, filterable
//	  commit    text: the state of the database, a Commit as JSON
//
// Classes have a copy of each object on up to three nodes, BM25 with k1 1 and b 1, and no
// vectors. A class never changes; another schema gets other names.
//
// A database has a tenant of its own, so that its term frequencies are its own. The name
// of a tenant is the start of the database's name, 8 hexadecimal digits of its SHA-1, and
// 16 random ones. IDs of objects are UUIDs of version 5 of a namespace of docsearch's own.
// Their names are byte strings, each preceded by its length in decimal and a colon:
//
//	passage   the tenant, "passage", SHA-256 of the passage (see Passage.digest)
//	part      the tenant, "part", SHA-256 of the data in hexadecimal, [4] number of the part
//	database  "database", the name
//
// # Push
//
// A push sends the passages and the statistics, waits until every node has every passage,
// compares sample queries with the local database, and writes the commit last. Readers
// read the commit first and ignore passages that are not visible in it. So they see one
// push or the next, and a push that fails changes nothing.
//
// A push fills a new tenant. If at most a tenth of the passages has changed, it adds the
// new passages to the tenant in use, with slots that are not visible yet, and the new
// commit hides the old ones. Old tenants and hidden passages remain for an hour, for
// readers that have not read the new commit.
//
// Weaviate 1.37.0 has properties that this package works around:
//
//   - Searches miss matches unless PruningSetting is set. ProbeSearch detects that.
//   - A request to a running node can hang after another node was killed. Each request has
//     a timeout per node, after which the next node is asked.
//   - A node that was killed while it stored an object can have the object, but not its
//     words. So writes need all nodes, and a batch that failed is deleted before it is sent
//     again.
//   - A restarted node is ready before it has loaded the schema. Its answers 404 and 422 do
//     not count if another node answers. It also reports the counts of other nodes as its
//     own, so a push lists its objects instead.
//   - Errors of GraphQL have status 200.
package cluster
