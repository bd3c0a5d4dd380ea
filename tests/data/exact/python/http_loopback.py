import http.server, threading, urllib.request
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(self.path.encode())
    def log_message(self, *a): print("served", self.path)
s = http.server.HTTPServer(("127.0.0.1", 0), H)
threading.Thread(target=s.serve_forever, daemon=True).start()
print(urllib.request.urlopen(f"http://127.0.0.1:{s.server_port}/x").read())
s.shutdown()
