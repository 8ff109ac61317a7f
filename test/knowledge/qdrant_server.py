"""Speaks the REST calls of Qdrant that the store uses, over Qdrant's own engine (PyPI qdrant-edge-py).

Prints its port. Each collection is one shard of the engine in a folder that goes with the process.
"""

import json
import re
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

import qdrant_edge as q

SHARDS, LOCK, ROOT = {}, Lock(), tempfile.TemporaryDirectory()
DISTANCES = {"Cosine": q.Distance.Cosine, "Dot": q.Distance.Dot}


class Refused(Exception):
    def __init__(self, status, message):
        self.status, self.message = status, message


def shard_of(name):
    if name not in SHARDS:
        raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
    return SHARDS[name]


def condition(raw):
    match = raw["match"]
    kind = q.MatchAny(match["any"]) if "any" in match else q.MatchValue(match["value"])
    return q.FieldCondition(raw["key"], match=kind)


def filter_of(raw):
    if not raw:
        return None
    parts = {key: [condition(one) for one in raw[key]] for key in ("must", "must_not") if key in raw}
    return q.Filter(**parts) if parts else None


def create(name, body):
    if name in SHARDS:
        raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
    params = q.EdgeVectorParams(size=body["vectors"]["size"], distance=DISTANCES[body["vectors"]["distance"]])
    SHARDS[name] = q.EdgeShard.create(f"{ROOT.name}/{name}", q.EdgeConfig(vectors=params))
    return True


def index(name, body):
    schema = {"keyword": q.PayloadSchemaType.Keyword}[body["field_schema"]]
    shard_of(name).update(q.UpdateOperation.create_field_index(body["field_name"], schema))
    return {"status": "completed", "operation_id": 0}


def upsert(name, body):
    points = [q.Point(p["id"], p["vector"], p.get("payload")) for p in body["points"]]
    shard_of(name).update(q.UpdateOperation.upsert_points(points))
    return {"status": "completed", "operation_id": 0}


def delete(name, body):
    shard_of(name).update(q.UpdateOperation.delete_points(body["points"]))
    return {"status": "completed", "operation_id": 0}


def record(point):
    return {"id": str(point.id), "payload": point.payload}


def retrieve(name, body):
    return [record(point) for point in shard_of(name).retrieve(body["ids"], with_payload=True, with_vector=False)]


def scroll(name, body):
    request = q.ScrollRequest(offset=body.get("offset"), limit=body["limit"], with_payload=True)
    points, following = shard_of(name).scroll(request)
    return {
        "points": [record(point) for point in points],
        "next_page_offset": None if following is None else str(following),
    }


def count(name, body):
    request = q.CountRequest(exact=True, filter=filter_of(body.get("filter")))
    return {"count": shard_of(name).count(request)}


def facet(name, body):
    request = q.FacetRequest(
        body["key"], limit=body["limit"], exact=body["exact"], filter=filter_of(body.get("filter"))
    )
    return {"hits": [{"value": hit.value, "count": hit.count} for hit in shard_of(name).facet(request).hits]}


def query(name, body):
    request = q.QueryRequest(
        limit=body["limit"],
        query=q.Query.Nearest(body["query"]),
        score_threshold=body.get("score_threshold"),
        filter=filter_of(body.get("filter")),
        params=q.SearchParams(exact=True),
        with_payload=True,
    )
    points = shard_of(name).query(request)
    return {"points": [{**record(point), "version": point.version, "score": point.score} for point in points]}


ROUTES = [
    ("GET", r"/collections/([^/]+)/exists", lambda name, _: {"exists": name in SHARDS}),
    ("PUT", r"/collections/([^/]+)", create),
    ("PUT", r"/collections/([^/]+)/index", index),
    ("PUT", r"/collections/([^/]+)/points", upsert),
    ("POST", r"/collections/([^/]+)/points", retrieve),
    ("POST", r"/collections/([^/]+)/points/delete", delete),
    ("POST", r"/collections/([^/]+)/points/scroll", scroll),
    ("POST", r"/collections/([^/]+)/points/count", count),
    ("POST", r"/collections/([^/]+)/points/query", query),
    ("POST", r"/collections/([^/]+)/facet", facet),
]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        path = self.path.split("?")[0]
        try:
            with LOCK:
                status, said = 200, {"status": "ok", "time": 0, "result": self.result(path, body)}
        except Refused as refused:
            status, said = refused.status, {"status": {"error": refused.message}, "time": 0}
        except Exception as error:  # the engine's own refusals
            status, said = 400, {"status": {"error": str(error)}, "time": 0}
        data = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def result(self, path, body):
        for method, pattern, function in ROUTES:
            match = re.fullmatch(pattern, path)
            if match and method == self.command:
                return function(match.group(1), body)
        raise Refused(404, f"no such call: {self.command} {path}")

    do_GET = do_PUT = do_POST = answer

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
# Ends with whoever started it.
from threading import Thread

Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
