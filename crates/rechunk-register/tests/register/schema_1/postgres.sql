-- A register of schema version 1, as the first version of rechunk with a database has left it
-- in PostgreSQL. It is never changed: what is added to the schema has to cope with it.

CREATE TABLE register_schema (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMPTZ NOT NULL DEFAULT now(),
    success BOOLEAN NOT NULL,
    checksum BYTEA NOT NULL,
    execution_time BIGINT NOT NULL
);

INSERT INTO register_schema (version, description, success, checksum, execution_time)
VALUES (1, 'tables', true, '\xe167d0b7b1d0364fbe531f0d2b76156903a341ae1d8d98bcbdc7c6b9303c1b433280245d98f0b99b461858739ad02a92', 1000000);

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

CREATE TABLE register_identity (
    number BIGINT NOT NULL PRIMARY KEY CHECK (number = 1),
    identity TEXT NOT NULL
);

INSERT INTO register_identity (number, identity) VALUES (1, '5f1d3c9e-0b7a-4f7e-9a55-2f6c1f0f7a10');

INSERT INTO dataset_info (uuid, voxel_type, dimension_x, dimension_y, dimension_z, timepoint_ids,
    channels, angles, transformations, voxel_unit, voxel_resolution_x, voxel_resolution_y,
    voxel_resolution_z, timepoint_resolution, timepoint_unit, compression, label, common_metadata)
VALUES ('3b0e6a52-7d8f-4c57-8e3a-9f3d2b1c4e5f', 'uint16', 100, 80, 60, '[3,7]', 2, 1,
    '[[1.0,0.0,0.0,5.0,0.0,1.0,0.0,6.0,0.0,0.0,1.0,7.0]]', 'um', 0.4, 0.4, 1.0, 1.5, 'min', 'gzip',
    'embryo', '\x612074657874');

INSERT INTO dataset_resolutions VALUES
    ('3b0e6a52-7d8f-4c57-8e3a-9f3d2b1c4e5f', 0, 1, 1, 1, 64, 64, 64),
    ('3b0e6a52-7d8f-4c57-8e3a-9f3d2b1c4e5f', 1, 2, 2, 1, 64, 64, 32);

INSERT INTO dataset_versions (dataset_uuid, number) VALUES
    ('3b0e6a52-7d8f-4c57-8e3a-9f3d2b1c4e5f', 0),
    ('3b0e6a52-7d8f-4c57-8e3a-9f3d2b1c4e5f', 2),
    ('3b0e6a52-7d8f-4c57-8e3a-9f3d2b1c4e5f', 10);
