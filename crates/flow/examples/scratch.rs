//! scratch
use odonata_flow::*;
use odonata_workload::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let machine = odonata_machine::presets::builder(&args[1]).unwrap().build().unwrap();
    let pats: Vec<(&str, u32)> = args[2]
        .split(',')
        .map(|a| {
            let (n, r) = a.split_once(':').unwrap();
            (n, r.parse().unwrap())
        })
        .collect();
    let placement = &args[3];
    let specs: Vec<JobSpec> = pats
        .iter()
        .enumerate()
        .map(|(i, (p, r))| JobSpec {
            name: format!("j{i}"),
            ranks: *r,
            ranks_per_node: None,
            pattern: PatternSpec::parse(p).unwrap(),
            placement: PlacementSpec::parse(placement).unwrap(),
            color: None,
        })
        .collect();
    let t = std::time::Instant::now();
    let w = Workload::build(&machine, &specs, 1).unwrap();
    eprintln!("workload {:?}", t.elapsed());
    let mut s = if args[4] == "damselfly" { FlowSettings::damselfly() } else { FlowSettings::default() };
    s.routing = FlowRouting::named(&args[5]).unwrap();
    s.alone = false;
    s.bound_gap = args.get(6).map(|g| g.parse().unwrap());
    let mut last = String::new();
    let r = run(&machine, &w, &s, 1, 2, &mut |st, i, n| {
        if st != last || st == "bound" {
            eprintln!("{:?} {st} {i}/{n}", t.elapsed());
            last = st.to_string();
        }
        true
    })
    .unwrap();
    eprintln!("{:?} {:?}", t.elapsed(), r.convergence);
    for (c, class) in machine.classes().iter().enumerate() {
        for j in 0..=r.jobs.len() {
            let ls: Vec<f64> = if j == r.jobs.len() {
                machine.links().filter(|&l| machine.class(l).index() == c).map(|l| r.link_bytes[l.index()]).collect()
            } else {
                let mut v = vec![0.0; machine.link_count()];
                for i in 0..r.link_jobs.link.len() {
                    if r.link_jobs.job[i].index() == j {
                        v[r.link_jobs.link[i].index()] = r.link_jobs.bytes[i];
                    }
                }
                machine.links().filter(|&l| machine.class(l).index() == c).map(|l| v[l.index()]).collect()
            };
            let mx = ls.iter().fold(0.0f64, |a, b| a.max(*b));
            let avg = ls.iter().sum::<f64>() / ls.len() as f64;
            println!("{} job {j}: avg {:.3} max {:.3} MiB", class.name, avg / 1048576.0, mx / 1048576.0);
        }
    }
    for j in &r.jobs {
        println!(
            "hops {:.2} bw {:.3e} time {:.4} mean {:.4} network {:.3e}",
            j.mean_hops(),
            j.bandwidth_bytes_per_s,
            j.time_s,
            j.time_mean_s,
            j.bytes_network as f64
        );
    }
    println!("{:?}", r.bound);
    let mx = r.link_bytes.iter().zip(&r.link_capacity_bytes_per_s).map(|(b, c)| b / c).fold(0.0, f64::max);
    println!("max load {mx}");
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", status.lines().find(|l| l.starts_with("VmHWM")).unwrap());
}
