"""`concord audit`: plays what audits of benchmarks look for against tasks, without a language model."""
