"""Over HTTP: the shell and its safety, the queue before each model, and the APIs of the tasks."""
