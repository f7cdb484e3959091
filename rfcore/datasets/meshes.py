"""Triangle meshes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from rfcore.datasets import registry, stand_ins, storage
from rfcore.datasets.fallback import real_or_stand_in

if TYPE_CHECKING:
    import trimesh


def mesh(name: str, *, fallback: bool = False) -> trimesh.Trimesh:
    """Load a mesh, with the vertices that lie at one position merged into one.

    STL files repeat a vertex for every face, and textured files along their seams; neighbours exist only
    after the merge, which is trimesh's. Colours, textures and stored normals are left out.

    Args:
        name: a set of the family ``meshes``, such as ``"cylinder"`` or ``"teapot"``.
        fallback: whether one of trimesh's primitives is welcome where the file cannot be had.

    Returns:
        trimesh.Trimesh, with ``metadata["name"]`` and ``metadata["source"]``.
    """
    entry = registry.find(name, "meshes")
    (file,) = entry.files
    loaded, source = real_or_stand_in(
        entry, lambda: parse(storage.read(file), Path(file.path).suffix), stand_ins.mesh, fallback
    )
    loaded.metadata.update(name=entry.name, source=source)
    return loaded


def parse(content: bytes, suffix: str) -> trimesh.Trimesh:
    """Read the geometry of a mesh file whose name ends in ``suffix``."""
    import trimesh  # takes a second, and most notebooks load no mesh

    raw = trimesh.load_mesh(
        io.BytesIO(content), file_type=suffix.lstrip(".").lower(), process=False, skip_materials=True
    )
    return trimesh.Trimesh(raw.vertices, raw.faces, process=True)
