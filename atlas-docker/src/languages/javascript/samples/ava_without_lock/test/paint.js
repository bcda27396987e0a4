import test from 'ava';
