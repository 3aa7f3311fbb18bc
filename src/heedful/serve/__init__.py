"""Over HTTP: LibreTranslate's API, the page that looks inside, and the queue behind both."""
