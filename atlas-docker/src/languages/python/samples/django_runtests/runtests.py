import sys

import django
from django.conf import settings
from django.test.runner import DiscoverRunner

settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}})
django.setup()
sys.exit(DiscoverRunner().run_tests(["p.tests"]))
