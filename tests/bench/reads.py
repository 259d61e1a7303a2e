#!/usr/bin/env python3
"""Reads blocks of the datastore, and files, beside nginx and zarr-http-server with the same client.

    tests/bench/reads.py [--blocks 512] [--seconds 5] [--connections 16] [--reps 3] [--python PYTHON]

Needs nginx and wrk (Debian: `apt install nginx-light wrk`). Blocks are 64 x 64 x 64 uint16, stored raw; nginx gives the
files of N5 that they are in. Each repetition asks nginx, the datastore (`/datasets/U/1/1/1/0/x/y/z/0/0/0`) and the view
of files (`rechunk serve PATH`) for the same blocks one after the other. It prints ratios of one run.

PYTHON is a Python (3.12 or newer) with the package zarr-http-server: it serves the same bytes as chunks of a Zarr array, which
`rechunk serve PATH` serves too, and nginx.
"""

import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from upload import SIDE, Server, block_bytes  # noqa: E402

CONF = """
worker_processes auto;
pid {root}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 100000000;
    client_body_temp_path {root}/1; proxy_temp_path {root}/2; fastcgi_temp_path {root}/3;
    uwsgi_temp_path {root}/4; scgi_temp_path {root}/5;
    server {{ listen 127.0.0.1:{port}; root {files}; default_type application/octet-stream; }}
}}
"""

ZARR_SERVER = """
import sys
from zarr.storage import LocalStore
from zarr_http_server import serve, store_app

serve(store_app(LocalStore(sys.argv[1], read_only=True)), port=int(sys.argv[2]), uvicorn_options={"log_level": "error"})
"""

LUA = """
local paths = {{ {paths} }}
local at = 0
request = function()
    at = at % #paths + 1
    return wrk.format("GET", paths[at])
end
"""


class Files(Server):
    """`rechunk serve PATH`."""

    def __init__(self, program, root):
        super().__init__(program, root, words=[])


def rate(base, paths, options, folder):
    """Answers in a second."""
    script = folder / "paths.lua"
    script.write_text(LUA.format(paths=", ".join(f'"{path}"' for path in paths)))
    command = ["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", "-s", script, base]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        sys.exit(said)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", said).group(1))


def zarr_array(folder, places, shape, blocks):
    """Writes the blocks as chunks of an array of Zarr v3, and returns their paths."""
    zyx = shape[::-1]
    document = {
        "zarr_format": 3, "node_type": "array", "shape": zyx, "data_type": "uint16", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [SIDE] * 3}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}], "attributes": {},
    }
    folder.mkdir()
    (folder / "zarr.json").write_text(json.dumps(document))
    paths = []
    for x, y, z in places:
        path = f"c/{z}/{y}/{x}"
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(blocks[(x + y + z) % len(blocks)][12:])
        paths.append(path)
    return paths


def wait_for(port):
    """Waits until something listens."""
    for _ in range(200):
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    sys.exit(f"nothing listens on port {port}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/rechunk")
    parser.add_argument("--blocks", type=int, default=512)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--python", help="a Python with zarr-http-server")
    options = parser.parse_args()
    for tool in ["nginx", "wrk"]:
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is not installed")
    places = [(n % 16, n // 16 % 8, n // 128) for n in range(options.blocks)]
    shape = [SIDE * 16, SIDE * 8, SIDE * max(1, options.blocks // 128)]
    blocks = [block_bytes(seed) for seed in range(17)]
    folder = Path(tempfile.mkdtemp(prefix="bench-reads-"))
    folder.chmod(0o755)
    running = []
    try:
        datastore = Server(options.program, folder / "root")
        running.append(datastore)
        name = datastore.create(shape, "raw")
        for at in range(0, len(places), 16):
            group = places[at : at + 16]
            path = "/".join(f"{x}/{y}/{z}/0/0/0" for x, y, z in group)
            body = b"".join(blocks[(x + y + z) % len(blocks)] for x, y, z in group)
            datastore.ask("POST", f"/datasets/{name}/1/1/1/0/{path}", body, "application/octet-stream")
        files = Files(options.program, folder / "root")
        running.append(files)
        port = int(datastore.host.rsplit(":", 1)[1]) + 1000
        conf = folder / "nginx.conf"
        conf.write_text(CONF.format(root=folder, files=folder / "root", port=port))
        nginx = subprocess.Popen(
            ["nginx", "-e", "stderr", "-c", conf, "-g", "daemon off;" + ("user root;" if os.geteuid() == 0 else "")]
        )
        stored = [f"/{name}/0/export.n5/setup0/timepoint0/s0/{x}/{y}/{z}" for x, y, z in places]
        asked = [f"/datasets/{name}/1/1/1/0/{x}/{y}/{z}/0/0/0" for x, y, z in places]
        rates = {"nginx": [], "datastore": [], "files": []}
        if options.python:
            chunks = [f"/array.zarr/{path}" for path in zarr_array(folder / "root/array.zarr", places, shape, blocks)]
            peer = port + 1000
            zarr_server = subprocess.Popen([options.python, "-c", ZARR_SERVER, folder / "root", str(peer)])
            wait_for(peer)
            rates |= {"zarr-http-server": [], "chunks": []}
        for _ in range(options.reps):
            rates["nginx"].append(rate(f"http://127.0.0.1:{port}", stored, options, folder))
            rates["datastore"].append(rate(f"http://{datastore.host}", asked, options, folder))
            rates["files"].append(rate(f"http://{files.host}", stored, options, folder))
            if options.python:
                rates["chunks"].append(rate(f"http://{files.host}", chunks, options, folder))
                rates["zarr-http-server"].append(rate(f"http://127.0.0.1:{peer}", chunks, options, folder))
        peak = datastore.peak_mib()
        for other in [nginx, *([zarr_server] if options.python else [])]:
            other.terminate()
            other.wait()
    finally:
        for server in running:
            server.stop()
        shutil.rmtree(folder)

    def ratio(way, other="nginx"):
        all_of = [a / b for a, b in zip(rates[way], rates[other])]
        return f"{statistics.median(all_of):.2f} ({min(all_of):.2f}-{max(all_of):.2f})"

    print(f"{options.blocks} blocks of {2 * SIDE**3 >> 10} KiB, {options.connections} connections")
    print(f"blocks of the datastore / files by nginx:  {ratio('datastore')}")
    print(f"files by rechunk / files by nginx:         {ratio('files')}")
    if options.python:
        print(f"chunks by rechunk / zarr-http-server:      {ratio('chunks', 'zarr-http-server')}")
        print(f"blocks of the datastore / of it:           {ratio('datastore', 'zarr-http-server')}")
    print(f"datastore's peak: {peak:.0f} MiB")


if __name__ == "__main__":
    main()
