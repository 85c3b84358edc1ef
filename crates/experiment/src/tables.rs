//! Named tables of columns: what every engine fills and Python wraps.

/// A column. All columns of a table have the same length.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// Small counts.
    U16(Vec<u16>),
    /// Ids and counts.
    U32(Vec<u32>),
    /// Large counts and picoseconds.
    U64(Vec<u64>),
    /// Ids with marks below zero.
    I32(Vec<i32>),
    /// Bytes that a model splits, rates, seconds.
    F64(Vec<f64>),
    /// Yes or no.
    Bool(Vec<bool>),
    /// Texts: row i is `texts[codes[i]]`.
    Text {
        /// Position of each row's text.
        codes: Vec<i32>,
        /// The texts, each once.
        texts: Vec<String>,
    },
    /// Lists of ids: row i is `values[offsets[i]..offsets[i + 1]]`.
    Lists {
        /// Where each row starts, and where the last one ends.
        offsets: Vec<i32>,
        /// The lists, one after the other.
        values: Vec<u32>,
    },
}

impl Column {
    /// A text column of rows that are all their own text.
    pub fn texts(texts: Vec<String>) -> Self {
        let rows = i32::try_from(texts.len()).expect("a table has fewer than 2^31 rows");
        Self::Text { codes: (0..rows).collect(), texts }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U16(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Text { codes, .. } => codes.len(),
            Self::Lists { offsets, .. } => offsets.len() - 1,
        }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::U16(a), Self::U16(b)) => a.extend(b),
            (Self::U32(a), Self::U32(b)) => a.extend(b),
            (Self::U64(a), Self::U64(b)) => a.extend(b),
            (Self::I32(a), Self::I32(b)) => a.extend(b),
            (Self::F64(a), Self::F64(b)) => a.extend(b),
            (Self::Bool(a), Self::Bool(b)) => a.extend(b),
            (Self::Lists { offsets, values }, Self::Lists { offsets: ends, values: more }) => {
                let end = *offsets.last().expect("lists have an end");
                offsets.extend(ends.iter().skip(1).map(|offset| end + offset));
                values.extend(more);
            }
            (a, b) => panic!("columns of different types, {a:?} and {b:?}, or of texts"),
        }
    }
}

/// Columns by name, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Table(Vec<(String, Column)>);

impl Table {
    /// A table without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column.
    ///
    /// # Panics
    /// If the name is taken or the length differs from that of the other columns.
    pub fn push(&mut self, name: impl Into<String>, column: Column) {
        let name = name.into();
        assert!(self.get(&name).is_none(), "two columns are called {name}");
        if let Some((first, rows)) = self.0.first().map(|(first, column)| (first, column.len())) {
            assert_eq!(column.len(), rows, "columns {first} and {name} have the same length");
        }
        self.0.push((name, column));
    }

    /// The column called `name`.
    pub fn get(&self, name: &str) -> Option<&Column> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, column)| column)
    }

    /// Adds the rows of a table with the same columns.
    ///
    /// # Panics
    /// If the columns differ in name, order or type.
    pub fn append(&mut self, rows: Self) {
        assert_eq!(self.0.len(), rows.0.len(), "both tables have the same columns");
        for ((name, mine), (other, more)) in self.0.iter_mut().zip(rows.0) {
            assert_eq!(*name, other, "both tables have the same columns");
            mine.append(more);
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.0.first().map_or(0, |(_, column)| column.len())
    }

    /// Names and columns in order.
    pub fn columns(&self) -> &[(String, Column)] {
        &self.0
    }

    /// Gives the columns away, in order.
    pub fn into_columns(self) -> Vec<(String, Column)> {
        self.0
    }
}

/// Tables by name, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tables(Vec<(String, Table)>);

impl Tables {
    /// No tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a table.
    ///
    /// # Panics
    /// If the name is taken.
    pub fn push(&mut self, name: impl Into<String>, table: Table) {
        let name = name.into();
        assert!(self.get(&name).is_none(), "two tables are called {name}");
        self.0.push((name, table));
    }

    /// The table called `name`.
    pub fn get(&self, name: &str) -> Option<&Table> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, table)| table)
    }

    /// Names and tables in order.
    pub fn tables(&self) -> &[(String, Table)] {
        &self.0
    }

    /// Gives the tables away, in order.
    pub fn into_tables(self) -> Vec<(String, Table)> {
        self.0
    }
}
