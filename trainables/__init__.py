"""What one trial does: data, network, loss, training, metrics. No ray, no optuna."""
