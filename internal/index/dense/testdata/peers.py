"""Searches with hnswlib and faiss, for a comparison with docsearch's vector index.

Usage: peers.py FOLDER ENGINE M. FOLDER contains vectors.f32 and queries.f32,
rows of float32 whose dimensions are in meta.json. The script builds the graph of
ENGINE, or loads it if FOLDER has one. Then it reads one JSON request per line
from stdin: {"ef": N} searches for the ten nearest neighbors of every query on
one thread. It prints the CPU time in seconds and the neighbors.
"""

import json
import os
import sys
import time

import numpy as np

folder, engine, m = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(os.path.join(folder, "meta.json")) as f:
    meta = json.load(f)
vectors = np.memmap(os.path.join(folder, "vectors.f32"), dtype=np.float32, mode="r").reshape(meta["vectors"], meta["dimensions"])
queries = np.fromfile(os.path.join(folder, "queries.f32"), dtype=np.float32).reshape(-1, meta["dimensions"])
path = os.path.join(folder, f"{engine}-{m}.index")
start = time.perf_counter()

if engine == "hnswlib":
    import hnswlib

    index = hnswlib.Index(space="ip", dim=meta["dimensions"])
    if os.path.exists(path):
        index.load_index(path)
    else:
        index.init_index(max_elements=len(vectors), M=m, ef_construction=200)
        index.add_items(vectors)
    index.set_num_threads(1)

    def search(ef):
        index.set_ef(ef)
        return index.knn_query(queries, k=10)[0]

else:
    import faiss

    if os.path.exists(path):
        index = faiss.read_index(path)
    else:
        index = faiss.IndexHNSWFlat(meta["dimensions"], m, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = 100
        index.add(np.ascontiguousarray(vectors))
    faiss.omp_set_num_threads(1)

    def search(ef):
        index.hnsw.efSearch = ef
        return index.search(queries, 10)[1]


built = time.perf_counter() - start
if not os.path.exists(path):
    if engine == "hnswlib":
        index.save_index(path)
    else:
        faiss.write_index(index, path)
print(json.dumps({"built": built, "bytes": os.path.getsize(path)}), flush=True)
for line in sys.stdin:
    ef = json.loads(line)["ef"]
    start = time.process_time()
    found = search(ef)
    print(json.dumps({"seconds": time.process_time() - start, "found": found.astype(int).tolist()}), flush=True)
