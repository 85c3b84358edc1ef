//! Rubik's steps as text: `tile 8 8 2`, `leaves tilt Z X 1`, and scripts of them for two boxes.

use super::boxes::{CutKind, RankBox, Step};
use odonata_declare::hint;

/// Steps of a box, each with an example of its arguments.
const STEPS: [(&str, &str); 9] = [
    ("div", "div 2 2 2"),
    ("tile", "tile 4 4 4"),
    ("mod", "mod 2 2 2"),
    ("cut", "cut 2 2 2 div mod div"),
    ("tilt", "tilt Z X 1"),
    ("shear", "shear X Z 1"),
    ("zigzag", "zigzag Z X 2 2"),
    ("zorder", "zorder"),
    ("transpose", "transpose Z Y X"),
];

/// A box's axes by name.
struct Axes<'n>(&'n [String]);

impl Axes<'_> {
    fn number(&self, name: &str) -> Result<usize, String> {
        let found = self.0.iter().position(|known| known == name);
        found.ok_or_else(|| format!("there is no axis {name}; expected one of {}", self.0.join(" ")))
    }

    /// Two different axes.
    fn pair(&self, name: &str, one: &str, other: &str) -> Result<(usize, usize), String> {
        let (one, other) = (self.number(one)?, self.number(other)?);
        match one == other {
            true => Err(format!("{name} moves an axis along itself; expected two axes")),
            false => Ok((one, other)),
        }
    }

    /// Each axis once.
    fn permutation(&self, names: &[&str]) -> Result<Vec<usize>, String> {
        let axes: Vec<usize> = names.iter().map(|name| self.number(name)).collect::<Result<_, _>>()?;
        let missing = self.0.iter().zip(0..).find(|(_, axis)| !axes.contains(axis));
        match missing {
            Some((name, _)) => Err(format!("axis {name} is missing; expected each axis once")),
            None if axes.len() > self.0.len() => Err("an axis appears twice; expected each axis once".into()),
            None => Ok(axes),
        }
    }
}

fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("'{word}' is not a valid whole number"))
}

fn numbers(words: &[&str], most: usize) -> Result<Vec<u32>, String> {
    match words.len() {
        0 => Err("expected a number for each axis".into()),
        found if found > most => Err(format!("{found} numbers, but the box has {most} axes")),
        _ => words.iter().map(|word| number(word)).collect(),
    }
}

/// Applies one step, given as words, to a box whose axes have these names.
///
/// # Errors
/// Invalid words, or a step that does not fit the box.
pub(super) fn apply(ranks: &mut RankBox, names: &[String], words: &[&str]) -> Result<(), String> {
    let (each_leaf, words) = match words {
        ["leaves", rest @ ..] => (true, rest),
        words => (false, words),
    };
    ranks.apply(&parse(names, words)?, each_leaf)
}

fn parse(names: &[String], words: &[&str]) -> Result<Step, String> {
    let (axes, most) = (Axes(names), names.len());
    let cut = |parts: &[&str], cutting: CutKind| -> Result<Step, String> {
        Ok(Step::Cut(numbers(parts, most)?.into_iter().map(|parts| (parts, cutting)).collect()))
    };
    match words {
        ["div", parts @ ..] => cut(parts, CutKind::Div),
        ["mod", parts @ ..] => cut(parts, CutKind::Mod),
        ["tile", sizes @ ..] => Ok(Step::Tile(numbers(sizes, most)?)),
        ["cut", rest @ ..] => {
            let (parts, kinds) = rest.split_at(rest.len() / 2);
            let kind = |word: &&str| match *word {
                "div" => Ok(CutKind::Div),
                "mod" => Ok(CutKind::Mod),
                other => Err(format!("'{other}'{}", hint(other, ["div", "mod"]))),
            };
            let kinds: Vec<CutKind> = kinds.iter().map(kind).collect::<Result<_, String>>()?;
            let parts = numbers(parts, most)?;
            match parts.len() == kinds.len() {
                true => Ok(Step::Cut(parts.into_iter().zip(kinds).collect())),
                false => Err("expected a number for each axis and then 'div' or 'mod' for each".into()),
            }
        }
        ["tilt", along, by, each] => {
            let (along, by) = axes.pair("tilt", along, by)?;
            Ok(Step::Tilt { along, by, each: number(each)? })
        }
        ["shear", by, along, each] => {
            let (along, by) = axes.pair("shear", along, by)?;
            Ok(Step::Tilt { along, by, each: number(each)? })
        }
        ["zigzag", along, by, depth, stride] => {
            let (along, by) = axes.pair("zigzag", along, by)?;
            let (depth, stride): (i32, u32) = (number(depth)?, number(stride)?);
            match stride {
                0 => Err("a stride of 0; expected 1 or more".into()),
                stride => Ok(Step::Zigzag { along, by, depth: depth.into(), stride }),
            }
        }
        ["zorder"] => Ok(Step::Zorder),
        ["transpose", order @ ..] => axes.permutation(order).map(Step::Transpose),
        [] => Err("a step is missing; expected one like 'tilt Z X 1'".into()),
        [name, ..] => match STEPS.iter().find(|(known, _)| known == name) {
            Some((_, usual)) => Err(format!("expected a step like '{usual}'")),
            None => Err(format!("'{name}' is not a step{}", hint(name, STEPS.map(|(known, _)| known)))),
        },
    }
}

/// State of a script: the ranks and the places.
struct Boxes {
    app: Option<RankBox>,
    net: RankBox,
    mapped: bool,
}

/// Runs a script. `app 16 8 16` makes a box of the ranks. `app ..` and `net ..` apply a step to it or to the box of the
/// places, whose axes have these names. `net map app` puts the ranks on the places.
///
/// # Errors
/// The number of the step, its words, and the problem.
pub(super) fn run(script: &[String], names: &[String], sizes: &[u32], ranks: u32) -> Result<RankBox, String> {
    let mut boxes = Boxes { app: None, net: RankBox::empty(sizes), mapped: false };
    for (step, number) in script.iter().zip(1..) {
        let words: Vec<&str> = step.split_whitespace().collect();
        boxes.step(names, &words, ranks).map_err(|reason| format!("step {number}, '{step}': {reason}"))?;
    }
    match boxes.mapped {
        true => Ok(boxes.net),
        false => Err("no step maps the ranks; expected 'net map app'".into()),
    }
}

impl Boxes {
    fn step(&mut self, names: &[String], words: &[&str], ranks: u32) -> Result<(), String> {
        match (words, &mut self.app) {
            (["app", sizes @ ..], None) => {
                self.app = Some(app(sizes, ranks)?);
                Ok(())
            }
            (["app", ..], Some(_)) if self.mapped => {
                Err("the ranks are already on their places; expected 'net ..'".into())
            }
            (["app", step @ ..], Some(app)) => {
                let names: Vec<String> = (0..app.sizes().len()).map(|axis| axis.to_string()).collect();
                apply(app, &names, step)
            }
            (["net", "map", "app"], Some(app)) => {
                self.mapped = true;
                self.net.map(app)
            }
            (["net", "map", "app"], None) => {
                Err("there are no ranks yet; expected sizes first, like 'app 16 8 16'".into())
            }
            (["net", "map", ..], _) => Err("expected 'net map app'".into()),
            (["net", step @ ..], _) => apply(&mut self.net, names, step),
            ([], _) => Err("a step is missing".into()),
            ([name, ..], _) => Err(format!("'{name}' is not a box{}", hint(name, ["app", "net"]))),
        }
    }
}

/// The box of the ranks.
fn app(sizes: &[&str], ranks: u32) -> Result<RankBox, String> {
    let read: Result<Vec<u32>, String> = sizes.iter().map(|word| number(word)).collect();
    let sizes = read.map_err(|reason| format!("{reason}; expected the sizes of a box first, like 'app 16 8 16'"))?;
    let product = sizes.iter().try_fold(1u32, |product, &size| product.checked_mul(size));
    match product {
        Some(product) if product == ranks && !sizes.is_empty() => Ok(RankBox::numbered(&sizes)),
        _ => Err(format!("a box of {} ranks, but the job has {ranks}", odonata_programs::format_sizes(&sizes))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::cell::place;

    fn names(letters: &str) -> Vec<String> {
        letters.chars().map(String::from).collect()
    }

    fn ran(steps: &[&str], sizes: &[u32], ranks: u32) -> Result<RankBox, String> {
        let steps: Vec<String> = steps.iter().map(|&step| step.into()).collect();
        run(&steps, &names(&"XYZT"[..sizes.len()]), sizes, ranks)
    }

    /// Rubik's tutorial: pF3D's 16 x 8 x 16 in planes onto 8 x 8 x 2 of 8 x 8 x 32. By hand: ranks 0 to 127 fill the
    /// first leaf with Z the fastest. So rank 1 is at Z1 and rank 127 at 7 7 1. Rank 128 starts the second leaf at Z2.
    #[test]
    fn planes_onto_slabs() {
        let steps = ["app 16 8 16", "app tile 1 8 16", "net tile 8 8 2", "net map app"];
        let cells = ran(&steps, &[8, 8, 32, 1], 2048).unwrap().cell_of_rank();
        let at = |rank: usize| place(&[8, 8, 32, 1], cells[rank]);
        assert_eq!(at(0), [0, 0, 0, 0]);
        assert_eq!(at(1), [0, 0, 1, 0]);
        assert_eq!(at(127), [7, 7, 1, 0]);
        assert_eq!(at(128), [0, 0, 2, 0]);
    }

    /// With four leaves of 2 x 2, a tilt of each leaf differs from a tilt of the box: rank 3 starts the second row of
    /// its leaf.
    #[test]
    fn steps_of_leaves() {
        let steps = ["app 4 4", "app div 2 2", "net tile 2 2", "net map app", "net leaves tilt Y X 1"];
        let cells = ran(&steps, &[4, 4], 16).unwrap().cell_of_rank();
        // Rows of leaf 0: ranks 0 1 and 4 5; the second is rolled to 5 4.
        assert_eq!([0, 1, 4, 5].map(|rank| cells[rank]), [0, 1, 5, 4]);
        let whole = ran(&["app 4 4", "net map app", "net shear X Y 1"], &[4, 4], 16).unwrap();
        assert_eq!(whole.cell_of_rank()[4..8], [5, 6, 7, 4], "row 1 is rolled by 1");
    }

    #[test]
    fn mistakes() {
        let wrong = |steps: &[&str]| ran(steps, &[4, 4], 16).unwrap_err();
        assert_eq!(wrong(&["app 4 5"]), "step 1, 'app 4 5': a box of 4 x 5 ranks, but the job has 16");
        assert_eq!(
            wrong(&["app 65536 65536"]),
            "step 1, 'app 65536 65536': a box of 65536 x 65536 ranks, but the job has 16"
        );
        assert!(wrong(&["app tile 2"]).ends_with("expected the sizes of a box first, like 'app 16 8 16'"));
        assert_eq!(wrong(&["nets tile 2"]), "step 1, 'nets tile 2': 'nets' is not a box; did you mean 'net'?");
        assert_eq!(
            wrong(&["app 16", "app titl 0"]),
            "step 2, 'app titl 0': 'titl' is not a step; did you mean 'tilt'?"
        );
        assert!(wrong(&["net map app"]).ends_with("there are no ranks yet; expected sizes first, like 'app 16 8 16'"));
        assert_eq!(wrong(&["app 16"]), "no step maps the ranks; expected 'net map app'");
        assert_eq!(wrong(&[]), "no step maps the ranks; expected 'net map app'");
        let unequal = ["app 16", "app div 2", "net div 4 1", "net map app"];
        assert!(wrong(&unequal).ends_with("net has 4 leaves, but app has 2; expected as many"));
        let unequal = ["app 16", "app div 3", "net div 3", "net map app"];
        assert!(wrong(&unequal).ends_with("leaf 0 of net has 4 places, but the same leaf of app has 5 ranks"));
        assert!(wrong(&["net div 5"]).ends_with("its axis 0 of 4 cells can't be cut into 5 parts"));
        assert!(wrong(&["net tile 1 1 1"]).ends_with("3 numbers, but the box has 2 axes"));
        assert!(wrong(&["net tile 0"]).ends_with("a tile of 0 cells along its axis 0; expected 1 to 4"));
        assert!(wrong(&["net tile -1"]).ends_with("'-1' is not a valid whole number"));
        assert!(wrong(&["net cut 2 2 div"]).contains("'2'"));
        assert!(wrong(&["net cut 2 dib"]).ends_with("'dib'; did you mean 'div'?"));
        assert!(wrong(&["net zigzag X Y 1 0"]).ends_with("a stride of 0; expected 1 or more"));
        assert!(wrong(&["net transpose X"]).ends_with("axis Y is missing; expected each axis once"));
        assert!(wrong(&["net transpose X Y X"]).ends_with("an axis appears twice; expected each axis once"));
        assert!(wrong(&["app 16", "net map app", "app zorder"]).ends_with("expected 'net ..'"));
    }
}
