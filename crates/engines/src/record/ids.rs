//! Key columns of several tables: the numbers of jobs, links, nodes, routers, ranks, channels and intervals.

use odonata_declare::Column;
use odonata_declare::Type::{U32, U64};
use odonata_declare::Unit::{Plain, Ps};

pub(crate) const JOB: Column = Column::key("job", U32, Plain, "Job", "Number of the job.").of("jobs");
pub(crate) const LINK: Column = Column::key("link", U32, Plain, "Link", "Number of the link.").of("links");
pub(crate) const NODE: Column = Column::key("node", U32, Plain, "Node", "Number of the node.").of("nodes");
pub(crate) const ROUTER: Column = Column::key("router", U32, Plain, "Router", "Number of the router.").of("routers");
pub(crate) const RANK: Column = Column::key("rank", U32, Plain, "Rank", "Number of the rank in its job.");
pub(crate) const VC: Column = Column::key("vc", U32, Plain, "Virtual channel", "Number of the virtual channel.");
pub(crate) const START: Column = Column::key("start_ps", U64, Ps, "Start", "Start of the interval.");
