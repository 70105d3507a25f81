pytest_plugins = ["grader.plugin.plugin"]
