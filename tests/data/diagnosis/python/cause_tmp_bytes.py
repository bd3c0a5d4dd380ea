import tempfile
with tempfile.NamedTemporaryFile() as f: f.write("abc")
