-- Since when nothing of an owner may be spent, and nobody may come in by it.
ALTER TABLE owner ADD COLUMN frozen_ms INTEGER;
