"""What tests and the laboratory share: servers, builders of rows and traces, scripted teams."""
