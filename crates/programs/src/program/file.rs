//! The program `file`: a program from a text file.

use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramRule};
use crate::text::{self, TextProgram};
use odonata_declare::{parameters, Kind, ParameterMistake, Reader};
use std::sync::Arc;

parameters! {
    /// Parameters of `file`.
    pub struct FileProgramParameters {
        /// Path of the program: roles, loops and calls, one per line.
        pub path: String, Kind::Path;
        /// Content of the file, after it was read.
        pub program: Option<Arc<TextProgram>> = None, no key;
    }
}

impl ProgramRule for FileProgramParameters {
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), ParameterMistake> {
        let bytes = files.read_filled(&self.path).map_err(|reason| ("path", reason))?;
        let program = text::parse(&self.path, &bytes, ranks).map_err(|error| ("path", error.to_string()))?;
        self.program = Some(Arc::new(program));
        Ok(())
    }

    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let program = self.program.clone().map(|program| program as Arc<dyn RankProgram>);
        built(&self.path, "program", program, context)
    }
}

/// The program read from `path`, if it fits the ranks of the job. `what` describes it.
pub(super) fn built(
    path: &str,
    what: &str,
    program: Option<Arc<dyn RankProgram>>,
    context: &ProgramContext<'_>,
) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
    let wrong = |reason: String| Err(("path", reason));
    match program {
        Some(program) if program.ranks() == context.ranks => Ok(program),
        Some(program) => {
            let (of, ranks) = (program.ranks(), context.ranks);
            wrong(format!("'{path}' was read for {of} ranks, but the job has {ranks}"))
        }
        None if path.is_empty() => wrong(format!("missing; write the path of a {what}")),
        None => wrong(format!("no {what} was read from '{path}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank_walks::{calls, try_build};
    use crate::rule::{build, ProgramSpec};
    use serde_json::json;

    struct OneFile(&'static str);

    impl Reader for OneFile {
        fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
            if name == "my.program" {
                Ok(self.0.into())
            } else {
                Err(format!("{name}: no such file"))
            }
        }

        fn locate(&self, _: &str, name: &str) -> Result<std::path::PathBuf, String> {
            Err(format!("{name}: not there"))
        }
    }

    #[test]
    fn from_a_file() {
        let mut spec = ProgramSpec::parse("file").unwrap();
        spec.set("path", json!("my.program")).unwrap();
        spec.rule_mut().read(2, &mut OneFile("compute 1 us\nbarrier\n")).unwrap();
        let program = build(&spec, &ProgramContext { job: "test", ranks: 2, seed: 1 }).unwrap();
        // Its own two calls, and the mark and barrier at the end.
        assert_eq!(calls(&*program, 1).len(), 4);
        assert_eq!([0, 1].map(|place| program.line(1, 0, place)), [Some(1), Some(2)]);
        assert_eq!(program.line(1, 1, 0), None);
        let error = build(&spec, &ProgramContext { job: "test", ranks: 3, seed: 1 }).unwrap_err().to_string();
        assert_eq!(error, "job 'test': program 'file': path: 'my.program' was read for 2 ranks, but the job has 3");
    }

    #[test]
    fn mistakes() {
        let message = |given: &[(&str, serde_json::Value)]| try_build("file", 2, given).unwrap_err().to_string();
        assert!(message(&[]).ends_with("path: missing; write the path of a program"));
        assert!(message(&[("path", json!("a"))]).ends_with("no program was read from 'a'"));
        let mut spec = ProgramSpec::parse("file").unwrap();
        spec.set("path", json!("my.program")).unwrap();
        let error = spec.rule_mut().read(2, &mut OneFile("barier\n")).unwrap_err();
        assert_eq!(
            error,
            ("path", "my.program:line 1, column 1: unknown call 'barier'; did you mean 'barrier'?".into())
        );
    }
}
