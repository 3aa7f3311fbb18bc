"""Files and marked-up text: taken apart into texts to translate, put together around them."""
