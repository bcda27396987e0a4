class WebTest {}
