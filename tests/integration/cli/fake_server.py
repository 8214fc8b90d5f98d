# SPDX-License-Identifier: Apache-2.0
"""A server that answers as a test tells it to, over TCP, TLS or a UNIX socket, and remembers what it was asked."""

import http.server
import json
import socketserver
import ssl
import threading


class Exchange:
    """One request as it arrived."""

    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body

    def json(self):
        return json.loads(self.body)


class Reply:
    def __init__(self, status=200, body=b"", headers=None, cut=False):
        self.status, self.headers, self.cut = status, headers or {}, cut
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()


def problem(status, code, detail, **more):
    document = {"type": "about:blank", "title": code, "status": status, "code": code, "detail": detail} | more
    return Reply(status, document, {"Content-Type": "application/problem+json"})


def event(number, kind, data):
    return f"id: {number}\nevent: {kind}\ndata: {json.dumps(data)}\n\n".encode()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        asked = Exchange(self.command, self.path, dict(self.headers.items()), self.rfile.read(length))
        self.server.owner.exchanges.append(asked)
        reply = self.server.owner.respond(asked)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.headers.get("Content-Type") == "text/event-stream":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for start in range(0, len(reply.body), 7):
                piece = reply.body[start : start + 7]
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            if not reply.cut:
                self.wfile.write(b"0\r\n\r\n")
        else:
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body[: len(reply.body) // 2] if reply.cut else reply.body)
        self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

    def log_message(self, *_):
        pass

    def address_string(self):
        return "client"


class _TcpServer(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # a client that has heard enough goes away; the test judges the client


class _UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class FakeServer:
    """`respond(exchange)` gives each `Reply`. Use as a context manager; `url` is for ASSAY_URL."""

    def __init__(self, respond, certificate=None, socket_path=None):
        self.respond, self.exchanges = respond, []
        if socket_path:
            self._server = _UnixServer(socket_path, _Handler)
            self.url = f"unix:{socket_path}"
        else:
            self._server = _TcpServer(("127.0.0.1", 0), _Handler)
            self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self._server.server_address[1]}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
