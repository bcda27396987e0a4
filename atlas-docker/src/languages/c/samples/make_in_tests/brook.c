int brook;
