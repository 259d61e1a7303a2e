-- The register of a datastore. Written so that SQLite and PostgreSQL both take it.
-- Lists of numbers that nobody looks for are JSON. Lists of sizes are x, y, z.

CREATE TABLE dataset_info (
    uuid TEXT NOT NULL PRIMARY KEY,
    voxel_type TEXT NOT NULL,
    dimension_x BIGINT NOT NULL,
    dimension_y BIGINT NOT NULL,
    dimension_z BIGINT NOT NULL,
    timepoint_ids TEXT NOT NULL,
    channels BIGINT NOT NULL,
    angles BIGINT NOT NULL,
    transformations TEXT,
    voxel_unit TEXT,
    voxel_resolution_x DOUBLE PRECISION,
    voxel_resolution_y DOUBLE PRECISION,
    voxel_resolution_z DOUBLE PRECISION,
    timepoint_resolution DOUBLE PRECISION,
    timepoint_unit TEXT,
    channel_resolution DOUBLE PRECISION,
    channel_unit TEXT,
    angle_resolution DOUBLE PRECISION,
    angle_unit TEXT,
    compression TEXT NOT NULL,
    label TEXT,
    common_metadata BYTEA NOT NULL,
    created TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE dataset_resolutions (
    dataset_uuid TEXT NOT NULL REFERENCES dataset_info (uuid) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    factor_x BIGINT NOT NULL,
    factor_y BIGINT NOT NULL,
    factor_z BIGINT NOT NULL,
    block_x BIGINT NOT NULL,
    block_y BIGINT NOT NULL,
    block_z BIGINT NOT NULL,
    PRIMARY KEY (dataset_uuid, number)
);

CREATE TABLE dataset_versions (
    dataset_uuid TEXT NOT NULL REFERENCES dataset_info (uuid) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    created TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (dataset_uuid, number)
);

-- One row: a name by which the folder of the data sets knows this register.
CREATE TABLE register_identity (
    number BIGINT NOT NULL PRIMARY KEY CHECK (number = 1),
    identity TEXT NOT NULL
);
