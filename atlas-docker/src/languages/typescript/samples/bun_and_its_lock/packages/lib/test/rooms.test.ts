import { expect, test } from 'bun:test'
import { rooms } from '../src'

test('counts', () => expect(rooms).toBe(3))
