//! What `odonata machine` says of a machine.

use crate::plan::MachinePlan;
use odonata_declare::Assumption;
use odonata_engines::record::machine_json;
use odonata_machine::metrics::{self, BisectionMethod, CableCost, Check, ClassMetrics, Metrics, PortUse};
use serde_json::{json, Value};

/// Counts, ports, distances, bisection, connectivity, cost and checks.
pub(crate) fn metrics_json(plan: &MachinePlan) -> Value {
    let machine = &plan.machine;
    let found = metrics::measure(machine);
    let mut checks = found.checks.clone();
    if let Some(declared) = plan.declared {
        checks.extend(metrics::check_declared(machine, declared));
    }
    let Metrics { distances, connectivity, bisection, .. } = &found;
    json!({
        "machine": machine_json(machine),
        "routers": found.routers,
        "routers_up": found.routers_up,
        "nodes": found.nodes,
        "nodes_up": found.nodes_up,
        "storage_nodes": found.storage_nodes,
        "cores_per_node": machine.cores_per_node(),
        "cores_up": found.cores_up,
        "groups": found.groups,
        "links": found.links,
        "classes": found.classes.iter().map(class_json).collect::<Value>(),
        "terminal": {
            "class": machine.terminal().name,
            "bandwidth_bytes_per_s": machine.terminal().bandwidth.bytes_per_s_f64(),
            "latency_ps": machine.terminal().latency.ps(),
            "nics": machine.node_count(),
            "ports": ports_json(&found.nic_ports),
        },
        "ports": ports_json(&found.ports),
        "warnings": plan.warnings,
        "assumptions": plan.assumptions.iter().map(assumption_json).collect::<Value>(),
        "distances": {
            "diameter": distances.diameter,
            "router_hops_mean": distances.router_hops_mean,
            "node_hops_mean": distances.node_hops_mean,
            "pairs_by_hops": distances.pairs_by_hops,
            "unreachable_pairs": distances.unreachable_pairs,
        },
        "connectivity": {
            "components": connectivity.components,
            "routers_cut_off": connectivity.cut_off.len(),
            "nodes_cut_off": connectivity.nodes_cut_off,
        },
        "bisection": {
            "bytes_per_s": bisection.bytes_per_s,
            "cables": bisection.cables,
            "nodes": [bisection.nodes.0, bisection.nodes.1],
            "cut": bisection.cut,
            "exact": bisection.method != BisectionMethod::UpperBound,
        },
        "cost": plan.cost(&found).as_ref().map_or(Value::Null, cost_json),
        "checks": checks.iter().map(check_json).collect::<Value>(),
    })
}

fn class_json(class: &ClassMetrics) -> Value {
    json!({
        "class": class.name,
        "links": class.links,
        "cables": class.cables,
        "router_pairs": class.router_pairs,
        "parallel_min": class.parallel_min,
        "parallel_max": class.parallel_max,
        "bandwidth_min_bytes_per_s": class.bandwidth_min.bytes_per_s_f64(),
        "bandwidth_max_bytes_per_s": class.bandwidth_max.bytes_per_s_f64(),
        "bandwidth_total_bytes_per_s": class.bandwidth_total_bytes_per_s,
        "ports": ports_json(&class.ports),
    })
}

fn ports_json(ports: &PortUse) -> Value {
    json!({
        "used": ports.used,
        "used_min": ports.used_min,
        "used_max": ports.used_max,
        "per_router": ports.per_router,
        "free": ports.free,
    })
}

fn cost_json(cost: &CableCost) -> Value {
    let classes =
        cost.classes.iter().map(|(class, cables, sum)| json!({ "class": class, "cables": cables, "cost": sum }));
    json!({ "classes": classes.collect::<Value>(), "total": cost.total, "without_price": cost.without_price })
}

fn assumption_json(known: &Assumption) -> Value {
    json!({ "key": known.key, "value": known.value, "reason": known.reason })
}

fn check_json(check: &Check) -> Value {
    json!({ "name": check.name, "holds": check.holds, "found": check.found })
}
