"""The provider `openai`: any server that speaks OpenAI's protocol of chat completions and embeddings."""
