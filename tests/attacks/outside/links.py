"""Makes links to secrets in its folder.
deserves = ["broken"]
says = "False"
"""
import os
os.symlink('{root}/solutions', '/tmp/there')
raise RuntimeError(str(os.path.exists('/tmp/there')))
