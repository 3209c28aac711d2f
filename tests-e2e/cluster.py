"""Two nodes instead of one service, for all client tests: E2E_NODES=2."""

import atexit

from nginx import free_port
from postgres import Postgres

running = []


def configs(config):
    """Two copies of a configuration, for two nodes on a new database."""
    if not running:
        running.append(Postgres().__enter__())
        atexit.register(running[0].__exit__)
    url = running[0].database()

    def of(node):
        return f'{config}\n[store]\nurl = "{url}"\n\n[cluster]\nlisten = "127.0.0.1:{free_port()}"\nnode = "{node}"\n'

    return of("home"), of("door")
