"""Authentication over HTTP and Kafka: API keys, and over HTTP also tokens of issuers in the policy."""
