-- Transactions whose hash only a node can tell wait here for their name; few do, and not for long.
CREATE INDEX rpc_tx_unnamed ON rpc_tx (request_id) WHERE tx_hash IS NULL;
