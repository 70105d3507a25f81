"""Reads what is not its own.
deserves = ["broken"]
says = "0 files"
[each]
the_solutions = "{root}/solutions/**/*.py"
the_hidden_suites = "{root}/tests/hidden/**/*.py"
the_suites_of_steps_which_have_the_oracle = "{root}/tests/public/**/*.py"
the_specimens = "{root}/tests/specimens/**/*.txt"
classmates_work = "{work}/**/*.py"
classmates_results = "{out}/**/*.json"
the_gradebook = "{out}/../*.db"
the_git_history = "{root}/.git/**/*"
the_home_folder = "/root/**/.bash*"
passwords = "/etc/passwd"
"""
import glob
found = [open(p, errors='replace').read() for p in glob.glob('EACH', recursive=True)]
raise RuntimeError(f'{len(found)} files: ' + ' '.join(found)[:2000])
