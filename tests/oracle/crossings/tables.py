"""Tables of anndata: dense and sparse matrices, text and categories in one group."""

from importlib.metadata import version

import anndata
import numpy as np
import pandas
import scipy.sparse
from common import digest, main, numbers

# Name, whether X is sparse, its type, version of Zarr, what is told to the copy.
TABLES = [
    ("dense", False, "f4", 3, ["--chunks", "keep"]),
    ("dense-to-shards", False, "f8", 3, []),
    ("sparse", True, "f4", 3, []),
    ("sparse-integers", True, "i4", 3, []),
    ("version-2", False, "f4", 2, []),
    ("version-2-sparse", True, "f8", 2, []),
]


def table(sparse, dtype):
    """40 observations of 20 variables."""
    elements = numbers((40, 20), dtype)
    elements[elements % 3 == 0] = 0
    names = [f"cell {number}" for number in range(40)]
    kinds = pandas.Categorical([("a", "b", "")[number % 3] for number in range(40)])
    observations = pandas.DataFrame({"kind": kinds, "count": np.arange(40)}, index=names)
    matrix = scipy.sparse.csr_matrix(elements) if sparse else elements
    found = anndata.AnnData(matrix, obs=observations)
    found.obsm["place"] = numbers((40, 2), "f8")
    found.uns["text"] = "a word"
    return found


def digest_of(found):
    """What a table holds."""
    matrix = found.X.toarray() if scipy.sparse.issparse(found.X) else found.X
    kinds = np.asarray(found.obs["kind"].astype(str))
    names = np.asarray(found.obs_names.astype(str))
    return digest(matrix, found.obs["count"].values, kinds, names, found.obsm["place"],
                  np.asarray(str(found.uns["text"])))


def write(directory):
    """Writes every table."""
    cases = []
    for name, sparse, dtype, zarr_format, options in TABLES:
        anndata.settings.zarr_write_format = zarr_format
        found = table(sparse, dtype)
        found.write_zarr(f"{directory}/{name}.zarr")
        cases.append(
            {"name": name, "source": f"{name}.zarr", "options": options, "digest": digest_of(found)}
        )
    return cases


def read(_, path):
    """Reads a table."""
    return digest_of(anndata.read_zarr(path))


main(f"anndata {version('anndata')}", write, read)
