"""Makes fixtures/raw: small .npy and .nii files as NumPy and nibabel write them, and beside each `NAME.elements`,
its elements in C order, little-endian, unscaled (.nii: axes as nibabel has them).

python tests/tools/raw_fixtures.py    (needs numpy and nibabel; made with 2.4.6 and 5.4.2)
"""

import pathlib

import nibabel
import numpy as np
from numpy.lib import format as npy

OUT = pathlib.Path(__file__).parents[2] / "fixtures/raw"


def elements(name, array):
    little = array.astype(array.dtype.newbyteorder("<")) if array.dtype.names is None else array
    (OUT / f"{name}.elements").write_bytes(np.ascontiguousarray(little).tobytes("C"))


def write_npy(name, array, version=None):
    with open(OUT / name, "wb") as file:
        npy.write_array(file, array, version=version, allow_pickle=False)
    elements(name, array)


def write_nii(name, image, array):
    nibabel.save(image, OUT / name)
    elements(name, array)


OUT.mkdir(exist_ok=True)
count = np.arange(60)
for dtype in ["|b1", "|i1", "|u1", "<i2", ">i2", "<u4", ">i8", "<f2", ">f4", "<f8", "<c8", ">c16"]:
    kind = dtype.replace("<", "le-").replace(">", "be-").replace("|", "")
    write_npy(f"{kind}.npy", count.astype(dtype).reshape(3, 4, 5))
write_npy("fortran.npy", np.asfortranarray(count.astype("<u2").reshape(3, 4, 5)))
write_npy("scalar.npy", np.array(7, "<i4"))
write_npy("empty.npy", np.zeros((0, 3), "<f4"))
write_npy("time.npy", count.astype(">M8[10us]"))
write_npy("delta.npy", count.astype("<m8[W]"))
write_npy("bytes.npy", np.array([b"a", b"bcd", b""], "S3"))
write_npy("text.npy", np.array(["a", "äöü", ""], ">U3"))
write_npy("void.npy", np.array([b"abc", b"de\0"], "V3"))
record = np.dtype([("a", "<i4"), (("a title", "b"), ">f8", (2,)), ("c", [("d", "|S3"), ("e'\\", "<u2")])])
write_npy("record.npy", np.zeros(3, record))
write_npy("padded.npy", np.zeros(3, np.dtype([("a", "i1"), ("b", "<i4")], align=True)))
write_npy("version2.npy", count.astype("<i4"), (2, 0))
write_npy("version3.npy", np.zeros(2, [("ä日", "<i4")]), (3, 0))
write_npy("slabs.npy", (np.arange(9) % 251).astype("u1").reshape(3, 3))

volume = np.arange(2 * 3 * 4).reshape(2, 3, 4)
affine = np.array([[2.0, 0, 0, -10.5], [0, 3.0, 0, 7], [0, 0, 4.0, 0.1], [0, 0, 0, 1]])
for dtype in ["u1", "<i2", ">i2", "<i4", ">f4", "<f8", "i1", "<u2", "<u4", "<i8", ">u8", "<c8", "<c16"]:
    kind = dtype.replace("<", "le-").replace(">", "be-")
    array = volume.astype(dtype)
    header = nibabel.Nifti1Header(endianness=">" if dtype[0] == ">" else "<")
    header.set_data_dtype(array.dtype)
    header.set_xyzt_units("mm", "sec")
    header["descrip"] = b"made for tests"
    image = nibabel.Nifti1Image(array, affine, header, dtype=array.dtype)
    image.header.set_slope_inter(2.5 if kind == "u1" else 1, -1 if kind == "u1" else 0)
    write_nii(f"{kind}.nii", image, array)
second = nibabel.Nifti2Image(volume.astype("<i2"), affine)
write_nii("second.nii", second, volume.astype("<i2"))
big = nibabel.Nifti2Header(endianness=">")
big.set_data_dtype(">i2")
write_nii("second-be.nii", nibabel.Nifti2Image(volume.astype(">i2"), affine, big), volume.astype(">i2"))
more = nibabel.Nifti1Image(volume.astype("<i2"), affine)
more.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"an extension"))
write_nii("extension.nii", more, volume.astype("<i2"))
four = np.arange(2 * 3 * 4 * 5, dtype="<f4").reshape(2, 3, 4, 5)
write_nii("four.nii", nibabel.Nifti1Image(four, affine), four)
