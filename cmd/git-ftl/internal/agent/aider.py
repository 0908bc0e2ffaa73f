# Starts aider from the folder beside this file. The interpreter takes no module from
# the workspace, the home or the environment, and neither do the children below.
import os
import runpy
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
sys.dont_write_bytecode = True

# aider runs its linter as "python -m flake8" in the workspace, where python takes
# modules from. As this file it takes none.
sys.executable = os.path.abspath(__file__)
if sys.argv[1:2] == ["-m"]:
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    sys.exit(0)

from aider import main, repomap

# A repository's own settings, variables and models choose hosts, and commands to run:
# those of the command line alone count. aider reads the repository's files beside any
# that an option names.
get_parser = main.get_parser
main.get_parser = lambda files, root: get_parser([], root)
main.generate_search_path_list = lambda name, root, given: []

# Its index of the workspace would be part of the change.
repomap.RepoMap.TAGS_CACHE_DIR = os.path.expanduser("~/.aider/tags")

sys.exit(main.main())
