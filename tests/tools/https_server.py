"""Serves a directory over HTTPS on loopback until it is killed.

    https_server.py DIRECTORY CERTIFICATES

CERTIFICATES has server.pem and server.key. Prints its port.
"""

import functools
import http.server
import pathlib
import ssl
import sys

directory, certificates = sys.argv[1:]
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=directory)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(*(pathlib.Path(certificates) / name for name in ("server.pem", "server.key")))
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
