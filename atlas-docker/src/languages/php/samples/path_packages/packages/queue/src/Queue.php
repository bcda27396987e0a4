<?php namespace Acme\Queue; class Queue {}
