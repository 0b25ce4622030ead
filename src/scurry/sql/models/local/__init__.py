"""Providers that compute in the task: a class of Python, a model of scikit-learn, a network of ONNX."""
