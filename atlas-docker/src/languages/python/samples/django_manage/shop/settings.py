DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
    }
}
