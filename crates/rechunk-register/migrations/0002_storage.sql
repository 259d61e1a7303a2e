-- Formats that blocks are stored in, shards, and fields of a description that have no column of
-- their own, as a JSON object.
ALTER TABLE dataset_info ADD COLUMN storage TEXT NOT NULL DEFAULT 'n5';
ALTER TABLE dataset_info ADD COLUMN more TEXT;
ALTER TABLE dataset_resolutions ADD COLUMN shard_x BIGINT;
ALTER TABLE dataset_resolutions ADD COLUMN shard_y BIGINT;
ALTER TABLE dataset_resolutions ADD COLUMN shard_z BIGINT;
