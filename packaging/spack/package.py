"""Spack's recipe: into packages/py_odonata/ of a repository (`spack repo create`), then `spack install`."""

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class PyOdonata(PythonPackage):
    """A workbench for supercomputer interconnects: steady-state flow, packets, closed forms from one file."""

    pypi = "odonata/odonata-0.2.0.tar.gz"

    license("Apache-2.0")

    # A release fills in the digest of its source distribution.
    version("0.2.0", preferred=True)

    variant("amg", default=False, description="Algebraic multigrid on your own matrices")
    variant("cluster", default=False, description="Sweeps on a batch system through Dask")
    variant("optimize", default=False, description="Searches among combinations of settings")

    depends_on("c", type="build")
    depends_on("rust@1.85:", type="build")
    depends_on("py-maturin@1.9.4:1", type="build")

    with default_args(type=("build", "run")):
        depends_on("python@3.10:")
        depends_on("py-click@8.1:")
        depends_on("py-markdown-it-py@3.0:")
        depends_on("py-matplotlib@3.8:")
        depends_on("py-numpy@1.26:")
        depends_on("py-pandas@2.1:")
        depends_on("py-pyarrow@15:")
        depends_on("py-rich@13.7:")
        depends_on("py-tomli@2.0:", when="^python@:3.10")

    with default_args(type=("build", "run"), when="+amg"):
        depends_on("py-scipy@1.11:")
        depends_on("py-pyamg@5.0:")
        depends_on("py-pymetis@2025.1:")

    with default_args(type=("build", "run"), when="+cluster"):
        depends_on("py-cryptography@42:")
        depends_on("py-dask@2025.5:")
        depends_on("py-dask-jobqueue@0.9:")
        depends_on("py-distributed@2025.5:")

    with default_args(type=("build", "run"), when="+optimize"):
        depends_on("py-optuna@5.0:")
