//! Opens, plans, runs, resumes and verifies: the public library.
