DATABASES = {
    "default": {"ENGINE": "django.db.backends.postgresql"},
}
