"""Asks an S3 server by clients that are not ours: boto3, and tensorstore to read an array.

moto.py ENDPOINT make BUCKET        makes a bucket, which rechunk never does
moto.py ENDPOINT list BUCKET        one line for each object: its key, or `unfinished` and the key of an upload
                                    that was neither completed nor given up
moto.py ENDPOINT read BUCKET KEY    SHA-256 of the elements of a Zarr v3 array, C order, little-endian
"""

import hashlib
import os
import sys

REGION = "us-east-1"


def client(endpoint):
    import boto3

    return boto3.client("s3", endpoint_url=endpoint, region_name=REGION)


def lines(endpoint, bucket):
    s3 = client(endpoint)
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    for page in pages:
        yield from (found["Key"] for found in page.get("Contents", []))
    uploads = s3.list_multipart_uploads(Bucket=bucket).get("Uploads", [])
    yield from (f"unfinished {upload['Key']}" for upload in uploads)


def digest(endpoint, bucket, key):
    import numpy as np
    import tensorstore

    store = {
        "driver": "s3",
        "bucket": bucket,
        "path": f"{key}/",
        "endpoint": endpoint,
        "aws_region": REGION,
        "aws_credentials": {"type": "environment"},
    }
    array = tensorstore.open({"driver": "zarr3", "kvstore": store}, open=True).result()
    return hashlib.sha256(np.ascontiguousarray(array.read().result()).tobytes()).hexdigest()


def main(endpoint, command, bucket, *key):
    os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
    if command == "make":
        client(endpoint).create_bucket(Bucket=bucket)
    elif command == "list":
        print("\n".join(lines(endpoint, bucket)))
    elif command == "read":
        print(digest(endpoint, bucket, *key))
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
