//! Paths on a machine with several planes, plane by plane: no cable joins two planes.

use super::{Demand, Draws, Notice, Oblivious, PathError, PathRule};
use odonata_machine::Machine;
use odonata_units::{LinkId, RouterId};
use std::ops::Range;

/// One plane; its routers and links have consecutive numbers.
struct Plane<'m> {
    rule: Box<dyn PathRule + 'm>,
    routers: Range<u32>,
    links: Range<usize>,
}

struct PlanePaths<'m>(Vec<Plane<'m>>);

/// A rule with its notices for the user, or the reason why there is none.
type RuleResult<'m> = Result<(Box<dyn PathRule + 'm>, Vec<Notice>), PathError>;

/// The rule of a machine with planes; `of_plane` gives the rule of each.
pub(super) fn path_rule(machine: &Machine, of_plane: impl Fn(&Machine) -> RuleResult<'_>) -> RuleResult<'_> {
    let (mut planes, mut notices) = (Vec::new(), Vec::new());
    let (mut router, mut link) = (0, 0);
    for (number, plane) in machine.planes().iter().enumerate() {
        let (rule, found) = of_plane(plane).map_err(|error| in_plane(machine, number, error))?;
        notices.extend(found.into_iter().map(|Notice(words)| Notice(format!("plane {number}: {words}"))));
        let (routers, links) = (plane.router_count() as u32, plane.link_count());
        planes.push(Plane { rule, routers: router..router + routers, links: link..link + links });
        (router, link) = (router + routers, link + links);
    }
    Ok((Box::new(PlanePaths(planes)), notices))
}

/// The error with the names that the routers have in the whole machine.
fn in_plane(machine: &Machine, number: usize, error: PathError) -> PathError {
    let here = |name: String| machine.name_of_plane_router(number, &name);
    match error {
        PathError::Unreachable { from, to } => PathError::Unreachable { from: here(from), to: here(to) },
        PathError::NoUpDownPath { from, to } => PathError::NoUpDownPath { from: here(from), to: here(to) },
        PathError::TooLong { to } => PathError::TooLong { to: here(to) },
        PathError::TooLarge { .. } | PathError::NoTorus => error,
    }
}

impl PlanePaths<'_> {
    /// The plane of two routers, and their numbers in it.
    #[inline]
    fn of(&self, source: RouterId, target: RouterId) -> (&Plane<'_>, RouterId, RouterId) {
        let plane = &self.0[self.place(source)];
        debug_assert!(plane.routers.contains(&target.0), "no message leaves its plane");
        let own = |router: RouterId| RouterId(router.0 - plane.routers.start);
        (plane, own(source), own(target))
    }

    #[inline]
    fn place(&self, router: RouterId) -> usize {
        self.0.partition_point(|plane| plane.routers.end <= router.0)
    }

    fn draw(
        &self,
        source: RouterId,
        target: RouterId,
        path: &mut Vec<LinkId>,
        draw: impl FnOnce(&dyn PathRule, RouterId, RouterId, &mut Vec<LinkId>),
    ) {
        let (plane, source, target) = self.of(source, target);
        let drawn = path.len();
        draw(&*plane.rule, source, target, path);
        path[drawn..].iter_mut().for_each(|link| link.0 += plane.links.start as u32);
    }
}

impl PathRule for PlanePaths<'_> {
    fn minimal(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        self.draw(source, target, path, |rule, source, target, path| rule.minimal(source, target, draws, path));
    }

    fn direct(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        self.draw(source, target, path, |rule, source, target, path| rule.direct(source, target, draws, path));
    }

    fn indirect(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        self.draw(source, target, path, |rule, source, target, path| rule.indirect(source, target, draws, path));
    }

    fn spread(&self, demands: &[Demand], rule: Oblivious, loads: &mut [f64]) {
        let mut of_planes = vec![Vec::new(); self.0.len()];
        for demand in demands {
            let (_, source, target) = self.of(demand.source, demand.target);
            of_planes[self.place(demand.source)].push(Demand { source, target, ..*demand });
        }
        for (plane, demands) in self.0.iter().zip(of_planes) {
            plane.rule.spread(&demands, rule, &mut loads[plane.links.clone()]);
        }
    }

    fn distance(&self, source: RouterId, target: RouterId) -> u32 {
        let (plane, source, target) = self.of(source, target);
        plane.rule.distance(source, target)
    }
}
