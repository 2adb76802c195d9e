"""Writes .npy files for the tests of metaop-run, and compares its results with them."""

import pathlib
import sys

import numpy as np

VALUES = np.array([[0, 1, 2.5], [-3, 100, 1000.125]])


def arrays() -> dict[str, np.ndarray]:
    """One array for each type string, in the order of the arguments."""
    names = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
    # By way of i8, so that numbers out of range wrap instead of being undefined.
    result = {
        name: (VALUES if name[0] in "bf" else VALUES.astype("i8")).astype(name) for name in names
    }
    result["f4"][0, 0] = np.nan
    result["f8"][0, 0] = -np.inf
    # NumPy has no bf16: these are the upper halves of f32.
    result["V2"] = (VALUES.astype("f4").view("u4") >> 16).astype("u2").view("V2")
    return result


def write(folder: pathlib.Path) -> None:
    for name, array in arrays().items():
        np.save(folder / f"{name}.npy", array)
    row = np.array([1, -2, 3.5], "f4")
    np.save(folder / "row.npy", row)
    with open(folder / "version2.npy", "wb") as file:
        np.lib.format.write_array(file, row, version=(2, 0))
    np.save(folder / "empty.npy", np.zeros(0, "f4"))
    np.save(folder / "number.npy", np.int64(42))


def damage(folder: pathlib.Path) -> None:
    """Files that metaop-run has to refuse."""
    good = (folder / "f4.npy").read_bytes()
    (folder / "short.npy").write_bytes(good[:-1])
    (folder / "header.npy").write_bytes(good[:40])
    np.save(folder / "fortran.npy", np.asfortranarray(VALUES.astype("f4")))
    np.save(folder / "big-endian.npy", VALUES.astype(">f4"))
    np.save(folder / "complex.npy", VALUES.astype("c8"))
    np.save(folder / "record.npy", np.zeros(2, [("a", "f4")]))


def compare(folder: pathlib.Path) -> None:
    for i, (name, array) in enumerate(arrays().items()):
        result = np.load(folder / "results" / f"result{i}.npy")
        assert result.dtype == array.dtype, name
        assert result.shape == array.shape, name
        assert result.tobytes() == array.tobytes(), name


if __name__ == "__main__":
    command, folder = sys.argv[1:]
    {"write": write, "damage": damage, "compare": compare}[command](pathlib.Path(folder))
